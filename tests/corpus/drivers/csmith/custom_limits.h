/* The header of this name that csmith_minimal.h asks for and Debian lacks;
   safe_math.h uses the limits of floating-point types, too. */

#include <float.h>
#include <limits.h>
#include <math.h>
