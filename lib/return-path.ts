const ORIGIN = 'https://here.invalid';
const MAX_CHARACTERS = 2_048;
/** Paths of the login itself, which would redirect the browser in a loop. */
const LOGIN = '/api/v1/auth/';

/** Returns the path for a browser after its login: the given path on this origin, or `/` when it is anything else. */
export function checkReturnPath(text: string): string {
  // Browsers percent-encode other characters. They ignore control characters and treat a backslash as a slash.
  if (text.length > MAX_CHARACTERS || !/^\/(?![/\\])[!-[\]-~]*$/.test(text)) return '/';
  if (!URL.canParse(text, ORIGIN)) return '/';
  const { origin, pathname } = new URL(text, ORIGIN);
  return origin !== ORIGIN || pathname.startsWith('//') || pathname.startsWith(LOGIN) ? '/' : text;
}
