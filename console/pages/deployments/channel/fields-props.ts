import type { Channel } from '../../../gen/index.ts';
import type { FieldProblems } from '../../../parts/editor/problems.ts';
import type { ChannelDraft } from './draft.ts';

export interface ChannelFieldsProps {
  provider: Channel['provider'];
  draft: ChannelDraft;
  onChange: (changes: Partial<ChannelDraft>) => void;
  problems: FieldProblems;
}
