import { useQueryClient } from '@tanstack/react-query';
import { CircleStop, Info } from 'lucide-react';
import { useState } from 'react';
import { sandboxes } from '../../api/sandboxes.ts';
import type { Sandbox } from '../../gen/index.ts';
import { ActionButton } from '../../parts/actions/action-button.tsx';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { TextLink } from '../../parts/navigation/links.tsx';
import { jsonText } from '../../parts/text/json.ts';
import { IconButton } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { PropertyList } from '../../ui/property-list.tsx';
import { Time } from '../../ui/time.tsx';

/** Buttons for the details and the termination of a sandbox. */
export function SandboxActions({ sandbox }: { sandbox: Sandbox }) {
  const [isOpen, setOpen] = useState(false);
  const queries = useQueryClient();
  const { sandbox_id: id } = sandbox;
  return (
    <span className="-mt-1.5 inline-flex">
      <IconButton label={`Details of ${id}`} icon={<Info />} onClick={() => setOpen(true)} />
      {sandbox.ended_at === null && (
        <ActionButton
          button={<IconButton label={`Terminate ${id}`} icon={<CircleStop />} />}
          title="Terminate this sandbox?"
          action="Terminate sandbox"
          run={() => sandboxes.terminate(id)}
          curl={{ method: 'POST', path: `/admin/sandboxes/${id}/terminate` }}
          done="The sandbox is being terminated."
          onDone={() => void queries.invalidateQueries({ queryKey: ['sandboxes'] })}
        >
          <p>
            Running commands end, and their outcome is reported to the session as unknown. The workspace is
            kept. The next command gets a new sandbox.
          </p>
          <code className="font-mono text-xs">{id}</code>
        </ActionButton>
      )}
      <Dialog open={isOpen} onClose={() => setOpen(false)} wide title={`Sandbox ${id}`} initialFocus="title">
        <SandboxDetails sandbox={sandbox} />
      </Dialog>
    </span>
  );
}

function SandboxDetails({ sandbox }: { sandbox: Sandbox }) {
  const { environment_id: environmentId, environment_version: version } = sandbox;
  return (
    <div className="flex flex-col gap-3">
      <PropertyList
        facts={[
          { name: 'Status', value: sandbox.reason ? `${sandbox.status}: ${sandbox.reason}` : sandbox.status },
          { name: 'Isolation', value: sandbox.isolation === 'kernel' ? 'Kernel' : 'Simulation' },
          { name: 'Owner', value: <code className="font-mono text-[13px]">{sandbox.owner_id}</code> },
          { name: 'Runner', value: <code className="font-mono text-[13px]">{sandbox.runner_id}</code> },
          {
            name: 'Environment',
            value: environmentId ? (
              <TextLink to="/environments/$environmentId" params={{ environmentId }}>
                {environmentId}
                {version === null ? '' : `, version ${version}`}
              </TextLink>
            ) : (
              'None'
            ),
          },
          { name: 'Last update', value: <Time at={sandbox.updated_at} /> },
          { name: 'Ended', value: sandbox.ended_at ? <Time at={sandbox.ended_at} /> : 'No' },
        ]}
      />
      <Code text={jsonText(sandbox.limits)} label="Effective limits" />
      <div>
        <CopyCurl path={`/admin/sandboxes/${sandbox.sandbox_id}`} />
      </div>
    </div>
  );
}
