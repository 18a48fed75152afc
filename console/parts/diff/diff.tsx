import { DiffLines } from './diff-lines.tsx';
import { changedFields, type DisplayedField } from './fields.ts';
import { diffLines, hunksOf } from './lines.ts';

export interface DiffProps {
  before: readonly DisplayedField[];
  after: readonly DisplayedField[];
}

/** Differences between two versions: field by field, and line by line within a field. */
export function Diff({ before, after }: DiffProps) {
  const changes = changedFields(before, after);
  if (changes.length === 0) return <p className="py-4 text-muted">There are no differences.</p>;
  return (
    <div className="flex flex-col gap-4">
      {changes.map((change) => (
        <section key={change.label} aria-label={change.label}>
          <h3 className="mb-1 font-medium">{change.label}</h3>
          <DiffLines rows={hunksOf(diffLines(change.before, change.after)).flat()} />
        </section>
      ))}
    </div>
  );
}
