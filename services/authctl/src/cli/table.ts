import Table from 'cli-table3';

const blank = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

/** Formats a value for a cell: times in ISO 8601, `-` for a missing value. */
function toCell(value: unknown): string {
  if (value === undefined || value === null || value === '') return '-';
  // A device's name, which a user chooses, must not be able to move the terminal's cursor.
  return (value instanceof Date ? value.toISOString() : String(value)).replaceAll(/\p{Cc}/gu, '\u{fffd}');
}

function draw(rows: readonly (readonly unknown[])[]): string {
  const style = { head: [], border: [], 'padding-left': 0, 'padding-right': 0 };
  const table = new Table({ chars: blank, style });
  table.push(...rows.map((row) => row.map(toCell)));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

/**
 * Formats rows in columns under headings. It uses no colours or lines, so the text is the same on a terminal and in a
 * file.
 */
export function table(headings: readonly string[], rows: readonly (readonly unknown[])[]): string {
  return draw([headings.map((heading) => heading.toUpperCase()), ...rows]);
}

/** Formats the fields of one object, one per line. */
export function fieldList(fields: Readonly<Record<string, unknown>>): string {
  return draw(Object.entries(fields));
}
