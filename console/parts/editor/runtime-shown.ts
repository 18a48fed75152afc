import type { AgentVersion } from '../../gen/index.ts';
import { objectText, type ShownField } from '../diff/fields.ts';
import type { Editable } from './draft.ts';

type Runtime = Pick<
  AgentVersion,
  'model' | 'model_options' | 'system' | 'environment_id' | 'tools' | 'max_steps' | 'budget'
>;

/** What turns run with, to be shown and compared. */
export function runtimeShown(runtime: Runtime): ShownField[] {
  const { max_tokens: tokens, max_turn_seconds: seconds } = runtime.budget;
  return [
    { label: 'Model', text: runtime.model },
    { label: 'System prompt', text: runtime.system },
    { label: 'Model options', text: objectText(runtime.model_options) },
    {
      label: 'Tools',
      text: runtime.tools
        .map(({ name, permission }) => `${name}: ${permission ?? 'default'}`)
        .sort()
        .join('\n'),
    },
    { label: 'Environment', text: runtime.environment_id ?? 'The default environment' },
    { label: 'Steps', text: String(runtime.max_steps) },
    { label: 'Output tokens', text: tokens?.toString() ?? 'No limit' },
    { label: 'Seconds', text: seconds?.toString() ?? 'No limit' },
  ];
}

/** The same with what it is called. */
export function editableShown(editable: Editable): ShownField[] {
  return [
    { label: 'Name', text: editable.name },
    { label: 'Description', text: editable.description },
    { label: 'Enabled', text: editable.enabled ? 'Yes' : 'No' },
    ...runtimeShown(editable),
    { label: 'Metadata', text: objectText(editable.metadata) },
  ];
}
