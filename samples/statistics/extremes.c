#include "statistics.h"

int largest(const struct list *list)
{   int result = 0;
    for (int i = 0; i < list->count; i++)
        if (list->values[i] > result)
            result = list->values[i];
    return result;
}

int smallest(const struct list *list)
{   int result = 0;
    for (int i = 0; i < list->count; i++)
        if (list->values[i] < result)
            result = list->values[i];
    return result;
}
