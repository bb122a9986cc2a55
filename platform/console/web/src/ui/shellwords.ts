// What is shown to be copied into a terminal has parts of addresses, which anyone may have written: each word
// is quoted unless it is plain.
const plain = /^[\w@%+=:,./-]+$/;

const quote = (w: string): string => (plain.test(w) ? w : `'${w.replaceAll("'", `'\\''`)}'`);

// words joins the words of a command; those that are undefined or empty are left out.
export const words = (...all: (string | undefined)[]): string => all.filter((w): w is string => !!w).map(quote).join(" ");

// option is a flag with its value, if that is set.
export const option = (name: string, value: string | undefined): (string | undefined)[] => (value ? [`--${name}`, value] : []);
