/* Compiles only if every model has the type of the function whose place it takes. */
#include "../all.c"

#include "declarations.h"
