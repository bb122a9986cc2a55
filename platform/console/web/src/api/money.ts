import { Num } from "./json";

// Money is a whole number of millionths of one currency. It is added and printed as whole numbers of any
// size: never as a float.

export type Amount = number | string | bigint | Num;

export const big = (v: Amount | undefined): bigint => (v === undefined ? 0n : BigInt(v instanceof Num ? v.text : v));

const million = 1_000_000n;

// money prints an amount with at least two digits behind the point, as the command line does.
export function money(v: Amount | undefined): string {
  const n = big(v);
  const abs = n < 0n ? -n : n;
  const part = String(abs % million).padStart(6, "0").replace(/0{1,4}$/, "");
  return `${n < 0n ? "-" : ""}${count(abs / million)}.${part}`;
}

// plain is money without marks between thousands, as a field and a file have it.
export const plain = (v: Amount | undefined): string => money(v).replaceAll("\u202f", "");

// parseMoney reads a decimal number with at most six digits behind the point, exactly.
export function parseMoney(text: string): Num | undefined {
  const found = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text.trim());
  return found ? new Num(String(BigInt(found[1]! + (found[2] ?? "").padEnd(6, "0")))) : undefined;
}

// count prints a whole number with thin spaces between thousands.
export const count = (v: Amount | undefined): string => String(big(v)).replace(/\B(?=(\d{3})+$)/g, "\u202f");

// share is v of all in per cent, for the length of a bar and for words: rounded.
export const share = (v: Amount | undefined, all: Amount | undefined): number => {
  const of = big(all);
  return of === 0n ? 0 : Number((big(v) * 10_000n) / of) / 100;
};

// change is how much more or less than before, in words.
export function change(now: Amount | undefined, before: Amount | undefined): string {
  const was = big(before);
  if (was === 0n) return big(now) === 0n ? "as before" : "none before";
  const percent = Number(((big(now) - was) * 1000n) / was) / 10;
  if (percent === 0) return "as before";
  return percent > 999 ? "10 times and more" : `${percent > 0 ? "+" : "−"}${Math.abs(percent) >= 10 ? Math.round(Math.abs(percent)) : Math.abs(percent)} %`;
}

export const bytes = (v: Amount | undefined): string => {
  const n = Number(big(v));
  const i = n < 1024 ? 0 : Math.min(4, Math.floor(Math.log2(n) / 10));
  return i === 0 ? `${n} B` : `${(n / 1024 ** i).toFixed(1)} ${["", "KiB", "MiB", "GiB", "TiB"][i]}`;
};
