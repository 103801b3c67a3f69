#include <stdio.h>
#include <string.h>

struct account { int number, balance; };

int main(void)
{
    struct account ada = {1, 100}, bob = {2, 50}, copy;
    struct account *from = &ada, *to = &bob;
    memcpy(&copy, from, sizeof copy);
    from->balance = from->balance - 30;
    to->balance = to->balance + 30;
    to = &copy;
    to->number = 3;
    printf("bob %d\n", bob.balance);
    printf("copy %d %d\n", copy.number, copy.balance);
    return 0;
}
