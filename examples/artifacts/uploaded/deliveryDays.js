// The day on which a parcel arrives: so many working days after it was sent.
const day = 24 * 60 * 60 * 1000;
const atWork = date => date.getUTCDay() % 6 !== 0;

export default function arrives({ sent, working_days }) {
  let date = new Date(sent + "T00:00:00Z");
  if (Number.isNaN(date.getTime())) throw new Error(`${sent} is no date: expected one such as 2026-05-01`);
  for (let left = working_days; left > 0;) {
    date = new Date(date.getTime() + day);
    if (atWork(date)) left--;
  }
  console.log(`${working_days} working days after ${sent}`);
  return { arrives: date.toISOString().slice(0, 10) };
}
