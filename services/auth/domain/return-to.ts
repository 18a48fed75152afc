const ORIGIN = 'https://here.invalid';
const MAX_CHARACTERS = 2_048;
/** A browser that came back here would go round in circles. */
const LOGIN = '/api/v1/auth/';

/** Where a browser goes after its login: the given path of ours, or / where it is none. */
export function ownPath(text: string): string {
  // What is not ASCII, a browser has percent-encoded; control characters and backslashes it would take for nothing or a slash.
  if (text.length > MAX_CHARACTERS || !/^\/(?![/\\])[!-[\]-~]*$/.test(text)) return '/';
  if (!URL.canParse(text, ORIGIN)) return '/';
  const { origin, pathname } = new URL(text, ORIGIN);
  return origin !== ORIGIN || pathname.startsWith('//') || pathname.startsWith(LOGIN) ? '/' : text;
}
