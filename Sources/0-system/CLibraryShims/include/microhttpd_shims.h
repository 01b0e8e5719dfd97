// The variadic calls of libmicrohttpd in fixed forms.
#ifndef BELFRY_MICROHTTPD_SHIMS_H
#define BELFRY_MICROHTTPD_SHIMS_H
#include <features.h>
#include <microhttpd.h>

#endif
