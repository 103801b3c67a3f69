#ifndef REPORT_H
#define REPORT_H

/* Prints a number with its name. */
void report(const char *name, long number);

#endif
