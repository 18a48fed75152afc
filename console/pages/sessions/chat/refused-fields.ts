/** The problems that the service has found in the member `root` of a request, by field. */
export function refusedFields(
  details: readonly { pointer: string; message: string }[],
  root: string,
): Readonly<Record<string, string>> {
  const problems = details.flatMap(({ pointer, message }) => {
    const [, member, name] = pointer.split('/');
    if (member !== root || name === undefined) return [];
    return [[name.replaceAll('~1', '/').replaceAll('~0', '~'), sentence(message)] as const];
  });
  return Object.fromEntries(problems);
}

const sentence = (message: string): string => `The value ${message}.`;
