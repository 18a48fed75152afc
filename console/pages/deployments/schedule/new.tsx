import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { agents } from '../../../api/agents.ts';
import { deployments } from '../../../api/deployments.ts';
import type { Agent } from '../../../gen/index.ts';
import { useIdempotencyKeys } from '../../../parts/actions/idempotency-key.ts';
import { AgentPicker } from '../../../parts/agents/agent-picker.tsx';
import { changesOf } from '../../../parts/editor/changes.ts';
import { ValidatedForm } from '../../../parts/editor/form.tsx';
import { LeaveGuard } from '../../../parts/editor/leave-guard.tsx';
import { SaveBar } from '../../../parts/editor/save-bar.tsx';
import { Field } from '../../../ui/field.tsx';
import { requests } from '../requests.ts';
import { emptyScheduleDraft, readScheduleDraft } from './draft.ts';
import { ScheduleFields } from './fields.tsx';

const route = getRouteApi('/deployments/new');

/** The form of a new schedule. It opens the page of the created schedule. */
export function NewSchedule() {
  const { agent: agentId = '' } = route.useSearch();
  const named = useQuery({ ...agents.detail(agentId), enabled: agentId !== '' });
  const [picked, setPicked] = useState<Agent | null>();
  const agent = picked === undefined && named.data?.access === 'manage' ? named.data : (picked ?? null);
  const [empty] = useState(emptyScheduleDraft);
  const [draft, setDraft] = useState(empty);
  const { keyFor } = useIdempotencyKeys();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { body, problems: wrong } = readScheduleDraft(draft);
  const creating = useMutation({
    mutationFn: (id: string) => deployments.createSchedule(id, body, keyFor([id, body])),
    onSuccess: ({ agent_id: id, deployment_id: deploymentId }) => {
      void queries.invalidateQueries({ queryKey: ['deployments', 'list'] });
      void navigate({
        to: '/deployments/$agentId/$deploymentId',
        params: { agentId: id, deploymentId },
        // The Back button skips the submitted form.
        replace: true,
        ignoreBlocker: true,
      });
    },
  });
  const { isPending, error } = creating;
  return (
    <>
      <ValidatedForm
        label="New schedule"
        localProblems={agent ? wrong : { ...wrong, '/agent': 'Select an agent.' }}
        error={error}
        onSubmit={() => {
          if (agent && !isPending) creating.mutate(agent.agent_id);
        }}
      >
        {(problems) => (
          <>
            <div className="mb-5 max-w-2xl">
              <Field
                label="Agent"
                hint="The list contains only agents that you manage."
                error={problems['/agent']}
              >
                <AgentPicker value={agent} onChange={setPicked} managed />
              </Field>
            </div>
            <ScheduleFields
              draft={draft}
              onChange={(changes) => setDraft((before) => ({ ...before, ...changes }))}
              problems={problems}
            />
            <SaveBar
              action="Create schedule"
              status=""
              busy={isPending}
              error={error}
              curl={requests.create(agent?.agent_id, { type: 'schedule', ...body })}
            />
          </>
        )}
      </ValidatedForm>
      <LeaveGuard isDirty={Object.keys(changesOf(empty, draft)).length > 0} />
    </>
  );
}
