enum { CAPACITY = 100 };

struct list {
    int count;
    int values[CAPACITY];
};

int sum(const struct list *list);
int largest(const struct list *list);
int smallest(const struct list *list);
int mean(const struct list *list);
