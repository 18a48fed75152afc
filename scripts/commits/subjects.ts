interface MalformedSubject {
  commit: string;
  subject: string;
  problem: string;
}

const MAX_LENGTH = 72;
const FORM = /^[a-z0-9][a-z0-9./-]*(, ?[a-z0-9][a-z0-9./-]*)*: (?<summary>\S.*)$/;
/** Verb forms that are not imperative, at the start of the summary: "adds", "added", "adding". */
const NOT_IMPERATIVE =
  /^(?!(?:bring|string|swing|ring|sing|embed|feed|need|seed|shed|speed|bed)\b)[a-z]+(?:ed|ing)\b/;

/** Returns the subjects that are not `area: imperative summary` in at most 72 characters. Takes lines of `<hash> <subject>`. */
export function malformedSubjects(lines: readonly string[]): MalformedSubject[] {
  return lines.flatMap((line) => {
    const [commit = '', ...words] = line.split(' ');
    const subject = words.join(' ');
    const problem = problemOf(subject);
    return problem ? [{ commit, subject, problem }] : [];
  });
}

function problemOf(subject: string): string | undefined {
  if (subject.length > MAX_LENGTH)
    return `The subject has ${subject.length} characters; the limit is ${MAX_LENGTH}.`;
  const summary = FORM.exec(subject)?.groups?.summary;
  if (summary === undefined)
    return 'The form is "area: imperative summary", with a lower-case area such as "edge".';
  if (/^[A-Z][a-z]/.test(summary)) return 'The summary begins with a lower-case letter.';
  if (summary.endsWith('.')) return 'The summary has no full stop.';
  if (NOT_IMPERATIVE.test(summary))
    return 'The summary begins with an imperative verb: "add", not "added" or "adding".';
  return undefined;
}
