// Charts for any page: bars and sparklines are SVG of our own; lines over days load uPlot when they are seen.
export { Bar, Bars, Sparkline, StackedBar, type BarRow, type Part } from "./bars";
export { csv, save } from "./csv";
export { Days, daysFrom, shiftDay, type Series } from "./days";
