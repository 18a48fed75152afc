import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { agents } from '../../api/agents.ts';
import type { Agent, AgentAccess } from '../../gen/index.ts';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { changesOf } from '../../parts/editor/changes.ts';
import { Form } from '../../parts/editor/form.tsx';
import { LeaveGuard } from '../../parts/editor/leave-guard.tsx';
import { problemAt } from '../../parts/editor/problems.ts';
import { SaveBar } from '../../parts/editor/save-bar.tsx';
import { Failure } from '../../parts/faults/failure.tsx';
import { useViewer } from '../../parts/people/viewer.ts';
import { Button } from '../../ui/button.tsx';
import { Radios } from '../../ui/radios.tsx';
import { Section } from '../../ui/section.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { toast } from '../../ui/toast.tsx';
import { EntriesField } from './entries-field.tsx';
import { VISIBILITIES } from './visibility.ts';

const CHOICES = (['private', 'allowlist', 'public'] as const).map((value) => ({
  value,
  ...VISIBILITIES[value],
}));

/** Who may begin conversations with the agent, and who may change it. */
export function AccessTab({ agent: { agent_id: agentId } }: { agent: Agent }) {
  const { data, error, refetch } = useQuery(agents.access(agentId));
  const curlOf = useCurl();
  if (data) return <AccessForm agentId={agentId} access={data} />;
  if (!error) return <Skeleton lines={6} />;
  const curl = curlOf({ path: `/agents/${agentId}/access` });
  return <Failure error={error} onRetry={() => void refetch()} curl={curl} />;
}

function AccessForm({ agentId, access }: { agentId: string; access: AgentAccess }) {
  const { isTeam } = useViewer();
  const queries = useQueryClient();
  const [draft, setDraft] = useState(access);
  const set = (changes: Partial<AgentAccess>) => setDraft({ ...draft, ...changes });
  const isDirty = Object.keys(changesOf(access, draft)).length > 0;
  const sharing = useMutation({
    mutationFn: () => agents.share(agentId, draft),
    onSuccess: (saved) => {
      queries.setQueryData(agents.access(agentId).queryKey, saved);
      setDraft(saved);
      void queries.invalidateQueries({ queryKey: ['agents'] });
      toast.done('Saved.');
    },
  });
  return (
    <Form
      label="Access to the agent"
      wrong={{}}
      error={sharing.error}
      onSubmit={() => {
        if (isDirty && !sharing.isPending) sharing.mutate();
      }}
    >
      {(problems) => (
        <>
          {!isTeam && (
            <p className="mb-2 text-muted">
              Nobody logs in here, so this holds once the service runs with logins.
            </p>
          )}
          <Section
            title="Conversations"
            lead="It holds from the moment it is saved. Whoever is talking goes on."
          >
            <Radios
              label="Who begins conversations"
              value={draft.visibility}
              options={CHOICES}
              onChange={(visibility) => set({ visibility })}
            />
            {draft.visibility === 'allowlist' && (
              <>
                <EntriesField
                  label="Users"
                  noun="user"
                  people
                  value={draft.users}
                  onChange={(users) => set({ users })}
                  error={problemAt(problems, '/users')}
                />
                <EntriesField
                  label="Groups"
                  noun="group"
                  value={draft.groups}
                  onChange={(groups) => set({ groups })}
                  error={problemAt(problems, '/groups')}
                />
              </>
            )}
          </Section>
          <Section
            title="Managers"
            lead="They change the agent, share it, give it triggers and read its sessions. So does whoever has created it."
          >
            <EntriesField
              label="Managers"
              noun="manager"
              people
              value={draft.managers}
              onChange={(managers) => set({ managers })}
              error={problemAt(problems, '/managers')}
            />
          </Section>
          {(isDirty || sharing.error) && (
            <SaveBar
              action="Save"
              says={isDirty ? 'There are changes that are not saved.' : ''}
              busy={sharing.isPending}
              error={sharing.error}
              curl={{ method: 'PUT', path: `/agents/${agentId}/access`, body: draft }}
            >
              <Button
                onClick={() => {
                  sharing.reset();
                  setDraft(access);
                }}
              >
                Discard
              </Button>
            </SaveBar>
          )}
          <LeaveGuard isDirty={isDirty} tabs />
        </>
      )}
    </Form>
  );
}
