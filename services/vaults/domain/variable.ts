import { type FieldProblems, pointerSegment } from '../../../lib/field-problems.ts';
import { variableNameProblem } from '../../../lib/variables.ts';
import type { VariableInjection, VariableMembers } from './credential.ts';
import { checkHeaderName } from './header-name.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const MAX_PLACES = 16;
const MAX_PREFIXES = 32;
const QUERY_MEMBER = /^[A-Za-z0-9._~[\]-]{1,128}$/;
const PLACEHOLDER_PREFIX = /^[A-Za-z0-9_-]{0,64}$/;
/** Characters of a path (RFC 3986, section 3.3). An encoded octet is checked separately. */
const PATH = /^\/[A-Za-z0-9._~!$&'()*+,;=:@%/-]{0,1023}$/;
/** Segments that servers normalize, and encodings of separators and dots, would make a prefix match other paths. */
const AMBIGUOUS_PATH = /\/\.{1,2}(\/|$)|\/\/|%(2f|5c|2e)|%(?![0-9a-f]{2})/i;

/** Returns the members as they are stored: header names in lower case, methods in upper case. */
export function normalizeVariable(members: VariableMembers): VariableMembers {
  const { inject, methods } = members;
  return {
    ...members,
    inject: { ...inject, headers: inject.headers.map((name) => name.toLowerCase()) },
    methods: methods.map((method) => method.toUpperCase()),
  };
}

/** Reports problems of the public members of an environment variable. */
export function checkVariable(members: VariableMembers, problems: FieldProblems): void {
  const { name, inject, methods, pathPrefixes, placeholderPrefix } = members;
  const nameProblem = variableNameProblem(name);
  if (nameProblem === 'malformed')
    problems.add('/name', 'must be 1–128 letters, digits and _ and must not begin with a digit');
  if (nameProblem === 'reserved')
    problems.add('/name', 'must not be a variable that the sandbox sets itself');
  checkInjection(inject, problems);
  checkEach('/methods', methods, METHODS.length, problems, (pointer, method) =>
    problems.oneOf(pointer, method, METHODS),
  );
  checkEach('/path_prefixes', pathPrefixes, MAX_PREFIXES, problems, (pointer, prefix) => {
    if (!PATH.test(prefix))
      problems.add(pointer, 'must be a path of at most 1024 characters that begins with /');
    else if (AMBIGUOUS_PATH.test(prefix))
      problems.add(pointer, 'must not contain //, segments . or .., or encoded slashes and dots');
  });
  if (!PLACEHOLDER_PREFIX.test(placeholderPrefix))
    problems.add('/placeholder_prefix', 'must be at most 64 letters, digits, _ and -');
}

function checkInjection({ headers, basic, query }: VariableInjection, problems: FieldProblems): void {
  if (headers.length + query.length === 0 && !basic)
    problems.add('/inject', 'must name a header or a member of the query, or have basic');
  checkEach('/inject/headers', headers, MAX_PLACES, problems, (pointer, name) =>
    checkHeaderName(pointer, name, problems),
  );
  checkEach('/inject/query', query, MAX_PLACES, problems, (pointer, name) => {
    if (!QUERY_MEMBER.test(name))
      problems.add(pointer, 'must be 1–128 letters, digits and the characters . _ ~ - [ ]');
  });
}

/** Reports too many and repeated items, and the problems of each one. */
function checkEach(
  pointer: string,
  items: readonly string[],
  max: number,
  problems: FieldProblems,
  check: (pointer: string, item: string) => void,
): void {
  if (items.length > max) {
    problems.add(pointer, `must have at most ${max} items`);
    return;
  }
  for (const [index, item] of items.entries()) {
    const itemPointer = `${pointer}${pointerSegment(index)}`;
    if (items.indexOf(item) < index) problems.add(itemPointer, 'must not repeat an earlier item');
    else check(itemPointer, item);
  }
}
