import type { DisplayedField } from '../../../parts/diff/fields.ts';
import type { ChannelBody } from './draft.ts';

/** The fields of a channel for the comparison of two edits. */
export function channelFields({ name, config }: ChannelBody): DisplayedField[] {
  const rows: [string, unknown][] = [
    ['Name', name],
    ['Mode', config.mode],
    ['Messages of groups', config.respond_to],
    ['Access', config.access.mode],
    ['Accounts', config.access.people.join('\n')],
    ['Places', config.access.places.join('\n')],
    ['Other organizations', config.access.allow_external ? 'Yes' : 'No'],
    ['Owner of sessions', config.owner],
    ['Approvers', Array.isArray(config.approvers) ? config.approvers.join('\n') : config.approvers],
    ['Message during a turn', config.busy],
    ['Answers', config.edits],
    ['Tool calls', config.show_tools],
    ['One session per chat', config.per_chat ? 'Yes' : 'No'],
    ['Files of messages', config.files_in ? 'Yes' : 'No'],
    ['Files of the agent', config.files_out ? 'Yes' : 'No'],
    ['Trust verified e-mails', config.trust_email ? 'Yes' : 'No'],
    ['New session after idle seconds', config.new_session_after_idle_seconds],
    ['Greeting', config.greeting],
  ];
  return rows.map(([label, value]) => ({ label, text: String(value ?? '') }));
}
