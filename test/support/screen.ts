/** The entries of the screen: a title, perhaps over several lines, then two lines with a label each. */
export function entriesOf(screen: string): { title: string; expected: string; fix: string }[] {
  const entry = /^ {2}(\S.*?)\n {4}expected: (.*?)\n {4}to mend: {2}(.*?)\n$/gms;
  return [...screen.matchAll(entry)].map(([, title = '', expected = '', fix = '']) => ({
    title,
    expected,
    fix,
  }));
}
