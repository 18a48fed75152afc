/** Parses the problems that a failed start prints: a title, possibly over several lines, then two labelled lines. */
export function entriesOf(screen: string): { title: string; expected: string; fix: string }[] {
  const entry = /^ {2}(\S.*?)\n {4}expected: (.*?)\n {4}fix: {6}(.*?)\n$/gms;
  return [...screen.matchAll(entry)].map(([, title = '', expected = '', fix = '']) => ({
    title,
    expected,
    fix,
  }));
}
