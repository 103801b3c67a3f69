#include "statistics.h"

int sum(const struct list *list)
{   int result = 0;
    for (int i = 0; i < list->count; i++)
        result += list->values[i];
    return result;
}

int mean(const struct list *list)
{   int total = sum(list);
    return total / list->count;
}
