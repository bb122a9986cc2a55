// A file of comma-separated values that a spreadsheet opens. What begins as a formula does is a text there.
const cell = (v: string): string => {
  const safe = /^[=+\-@\t\r]/.test(v) && !/^-?\d+(\.\d+)?$/.test(v) ? `'${v}` : v;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

export const csv = (rows: string[][]): string => rows.map((r) => r.map(cell).join(",") + "\r\n").join("");

// save offers a text as a file.
export function save(name: string, text: string | Blob, type = "text/csv;charset=utf-8"): void {
  const url = URL.createObjectURL(text instanceof Blob ? text : new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
