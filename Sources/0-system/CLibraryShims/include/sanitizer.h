// Whether this program was built with a sanitizer that watches memory: asked of the C compiler, since Swift has no word for it.
#ifndef BELFRY_SANITIZER_H
#define BELFRY_SANITIZER_H
#include <features.h>
#include <stdbool.h>

// In its own source file, which the package manager compiles with the same sanitizer as all else.
bool belfry_is_sanitized(void);

#endif
