import { type FieldProblems, pointerSegment } from './field-problems.ts';

const MAX_SCOPES = 50;
/** RFC 6749, section 3.3, at most 200 characters. */
const SCOPE = /^[!#-[\]-~]{1,200}$/;
/** RFC 6749, appendix A.1. */
const CLIENT_ID = /^[ -~]{1,2048}$/;

/** Adds a problem for an id that no client can have. */
export function checkClientId(pointer: string, clientId: string, problems: FieldProblems): void {
  if (!CLIENT_ID.test(clientId)) problems.add(pointer, 'must be 1–2048 printable ASCII characters');
}

/** Adds a problem for each text that is no scope, and for too many. */
export function checkScopes(pointer: string, scopes: readonly string[], problems: FieldProblems): void {
  if (scopes.length > MAX_SCOPES) problems.add(pointer, `must have at most ${MAX_SCOPES} items`);
  scopes.forEach((scope, index) => {
    if (!SCOPE.test(scope))
      problems.add(pointer + pointerSegment(index), 'must be a scope of RFC 6749 of at most 200 characters');
  });
}
