/* Runs the SQL statements that stand on standard input on a fresh database in
   memory, and prints each row with `|` between its columns. */

#include <stdio.h>

#include "sqlite3.h"

static char script[1 << 16];

static int print_row(void *unused, int columns, char **values, char **names)
{
    int i;

    (void)unused;
    (void)names;
    for (i = 0; i < columns; i++)
        printf("%s%s", i > 0 ? "|" : "", values[i] != NULL ? values[i] : "NULL");
    printf("\n");
    return 0;
}

int main(void)
{
    sqlite3 *database;
    char *message = NULL;
    int status;
    size_t length = fread(script, 1, sizeof script - 1, stdin);

    script[length] = '\0';
    if (sqlite3_open(":memory:", &database) != SQLITE_OK)
        return 2;
    status = sqlite3_exec(database, script, print_row, NULL, &message);
    if (status != SQLITE_OK)
        fprintf(stderr, "sqlite: %s\n", message);
    sqlite3_free(message);
    sqlite3_close(database);
    return status == SQLITE_OK ? 0 : 1;
}
