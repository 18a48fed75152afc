import type { FieldProblems } from '../../../parts/editor/problems.ts';
import type { ScheduleDraft } from './draft.ts';

export interface ScheduleFieldsProps {
  draft: ScheduleDraft;
  onChange: (changes: Partial<ScheduleDraft>) => void;
  problems: FieldProblems;
}
