/** Returns a Markdown table. Vertical bars in cells are escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Returns a generated page with a note that it must not be edited. */
export function page(title: string, source: string, parts: readonly string[]): string {
  const note = `<!-- Generated from ${source} by \`npm run docs\`. Edit the source, not this page. -->`;
  return `${[`# ${title}`, note, ...parts].join('\n\n')}\n`;
}
