import { Diff } from '../diff/diff.tsx';
import type { DisplayedField } from '../diff/fields.ts';
import { FieldList } from './field-list.tsx';

export interface FieldComparisonProps {
  /** Absent for a version without an earlier one. */
  before: readonly DisplayedField[] | undefined;
  after: readonly DisplayedField[];
}

/** The changed fields of a version; all fields without an earlier version. */
export function FieldComparison({ before, after }: FieldComparisonProps) {
  return before ? <Diff before={before} after={after} /> : <FieldList fields={after} />;
}
