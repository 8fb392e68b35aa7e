// Chooses the mutant of a gathered program: before anything of the program runs, and without leaving a trace that the
// program could see. Nothing of a library works yet.

struct entry {
    unsigned long mutant;
    void **slot;
    void *body;
};

extern const struct entry start[] __asm__("__start_cairn_gathered") __attribute__((weak, visibility("hidden")));
extern const struct entry stop[] __asm__("__stop_cairn_gathered") __attribute__((weak, visibility("hidden")));

static const char *after(const char *text, const char *prefix) {
    while (*prefix && *text == *prefix) text++, prefix++;
    return *prefix ? 0 : text;
}

static unsigned long number(const char *digits) {
    unsigned long number = 0;
    for (; *digits; digits++) number = number * 16 + (*digits <= '9' ? *digits - '0' : *digits - 'a' + 10);
    return number;
}

static void choose(int count, char **arguments, char **environment) {
    for (char **at = environment; *at; at++) {
        const char *value = after(*at, "CAIRN_GATHERED=");
        if (!value) continue;
        unsigned long mutant = number(value);
        for (const struct entry *entry = start; entry != stop; entry++)
            if (entry->mutant == mutant) *entry->slot = entry->body;
        do at[0] = at[1];
        while (*at++);
        return;
    }
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **, char **) = choose;
