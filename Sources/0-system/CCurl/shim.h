#include <features.h>  // first: a late _GNU_SOURCE must have no effect (several modules share system headers)
#include <curl/curl.h>
