/* What clang folds, and what looks as if it did. */
#include <stddef.h>

#define DEBUG 0

static int calls;

static int id(int x)
{
    calls++;
    return x;
}

static int fold(int a, int b)
{
    const int five = 5;
    static const int six = 6;
    enum { ON = 1 };
    int x = 0;
    while (1) {
        if (x++ > 3)
            break;
    }
    if (0 && a)
        x++;
    if (1 || a)
        x++;
    if (a && 1)
        x++;
    if (a && 0)
        x++;
    if (id(a) && 0)
        x++;
    if (five)
        x++;
    if (six > five)
        x++;
    if (ON && a)
        x++;
    if (DEBUG && a)
        x++;
    if (sizeof(int) == 4)
        x++;
    if (!0)
        x++;
    if (0) {
        if (a || b)
            x++;
    }
    if (0) {
    inside:
        if (a || b)
            x++;
        return x;
    }
    x = 1 && a;
    x = 0 || (a && b);
    x = 0 && a;
    x = (1 && a) ? 3 : 4;
    x = 1 ? a || b : (b && a);
    while (1 && a)
        a--;
    do
        x++;
    while (0);
    for (; 1;)
        if (x++ > 9)
            break;
    x += a ? five : 4;
    if (b)
        goto inside;
    return x;
}

static int tested_although_constant(int a)
{
    int x = 0;
    if (NULL)
        x++;
    if ("text")
        x++;
    if (1.0)
        x++;
    if ((id(a), 1))
        x++;
    return x;
}

int main(void)
{
    return tested_although_constant(1) + fold(0, 0) + fold(1, 0) + fold(0, 1) + fold(1, 1) == -calls;
}
