import { deployments } from '../../../api/deployments.ts';
import type { Channel, Deployment } from '../../../gen/index.ts';
import { EditForm } from '../../../parts/editor/edit-form.tsx';
import { LeaveGuard } from '../../../parts/editor/leave-guard.tsx';
import { useEditor } from '../../../parts/editor/use-editor.ts';
import { FormSection } from '../../../ui/form-section.tsx';
import { pathOf } from '../requests.ts';
import { CredentialsForm } from './credentials-form.tsx';
import { channelFields } from './displayed-fields.ts';
import { channelDraftOf, readChannelDraft } from './draft.ts';
import { ChannelFields, ConnectionFields } from './fields.tsx';

function asChannel(deployment: Deployment): Channel {
  if (deployment.type !== 'channel') throw new Error('The service has returned another type of deployment.');
  return deployment;
}

/** Changes a channel without overwriting changes of other users. */
export function SettingsTab({ channel }: { channel: Channel }) {
  const editing = useEditor(channel, channelDraftOf);
  const { revision } = editing.base;
  const props = { provider: channel.provider, draft: editing.draft, onChange: editing.set };
  return (
    <>
      <EditForm
        noun="channel"
        editing={editing}
        newest={channel}
        draftOf={channelDraftOf}
        read={readChannelDraft}
        shown={channelFields}
        save={async (changes) => asChannel(await deployments.update(channel, revision, changes))}
        path={pathOf(channel)}
        revision={revision}
        queryKey={deployments.detail(channel.agent_id, channel.deployment_id).queryKey}
      >
        {(problems) => (
          <>
            <FormSection title="Connection">
              <ConnectionFields {...props} problems={problems} />
            </FormSection>
            <ChannelFields {...props} problems={problems} />
          </>
        )}
      </EditForm>
      {channel.provider !== 'http' && (
        <div className="border-t border-line">
          <CredentialsForm channel={channel} />
        </div>
      )}
      <LeaveGuard isDirty={editing.isDirty} />
    </>
  );
}
