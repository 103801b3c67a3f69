#include <stdio.h>
#include <stdlib.h>

struct node { int value; struct node *next; };

struct node *push(struct node *head, int value)
{
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = head;
    return node;
}

int main(void)
{
    struct node *list = NULL;
    int length = 0, sum = 0;
    for (int i = 1; i <= 3; i++) {
        list = push(list, i * i);
        length = length + 1;
    }
    for (struct node *node = list; node; node = node->next)
        sum = sum + node->value;
    printf("last %d\n", list->value);
    printf("sum %d\n", sum);
    printf("length %d\n", length);
    return 0;
}
