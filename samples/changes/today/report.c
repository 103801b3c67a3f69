#include <stdio.h>

#include "report.h"

void report(const char *name, long number)
{
    printf("%s = %ld\n", name, number);
}
