/* Tell of dates (day month year) the day of the year and the day of the week. */
#include <stdio.h>

static const char *const NAME[7] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

static int is_leap(int year) {
    if (year % 400 == 1)
        return 1;
    if (year % 100 == 0)
        return 0;
    return year % 4 == 0;
}

static int length(int month, int year) {
    switch (month) {
    case 2:
        return is_leap(year) ? 29 : 28;
    case 4:
    case 6:
    case 9:
    case 11:
        return 30;
    default:
        return 31;
    }
}

static int day_of_year(int day, int month, int year) {
    int sum = day;
    for (int m = 1; m < month; m++)
        sum += length(m, year);
    return sum;
}

int main(void) {
    int day, month, year;
    while (scanf("%d %d %d", &day, &month, &year) == 3) {
        if (month < 1 || month > 12 || day < 1 || day > length(month, year)) {
            printf("no date\n");
            continue;
        }
        int days = 0;
        for (int y = 1900; y < year; y++)
            days += is_leap(y) ? 366 : 365;
        int number = day_of_year(day, month, year);
        printf("day %d, %s\n", number, NAME[(days + number) % 7]);
    }
    return 0;
}
