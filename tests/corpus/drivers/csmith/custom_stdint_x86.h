/* The header of this name that csmith_minimal.h asks for and Debian lacks. */

#include <stdint.h>
