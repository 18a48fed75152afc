import { getRouteApi } from '@tanstack/react-router';
import type { Schedule } from '../../../gen/index.ts';
import { CopyCurl } from '../../../parts/curl/copy-curl.tsx';
import { TextLink } from '../../../parts/navigation/links.tsx';
import { ResourceLead } from '../../../parts/resources/resource-lead.tsx';
import { Button } from '../../../ui/button.tsx';
import { Page } from '../../../ui/page.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import { Time } from '../../../ui/time.tsx';
import { useDeploymentActions } from '../actions.tsx';
import { AgentLink } from '../agent-link.tsx';
import { requests } from '../requests.ts';
import { DeploymentStatus } from '../status.tsx';
import { BackfillsTab } from './backfills-tab.tsx';
import { RunNow } from './run-now.tsx';
import { RunsTab } from './runs-tab.tsx';
import { SettingsTab } from './settings-tab.tsx';

const route = getRouteApi('/deployments/$agentId/$deploymentId');

const TABS = [
  { value: 'runs', text: 'Runs' },
  { value: 'settings', text: 'Settings' },
  { value: 'backfills', text: 'Backfills' },
] as const;

/** The page of a schedule. */
export function ScheduleContent({ schedule }: { schedule: Schedule }) {
  const { tab: chosenTab } = route.useSearch();
  const tab = TABS.find(({ value }) => value === chosenTab)?.value ?? 'runs';
  const navigate = route.useNavigate();
  const actions = useDeploymentActions(() => void navigate({ to: '/deployments' }));
  const isEnabled = schedule.status === 'enabled';
  return (
    <Page
      title={schedule.name}
      above={<TextLink to="/deployments">Deployments</TextLink>}
      lead={
        <ResourceLead noun="schedule" id={schedule.deployment_id}>
          <DeploymentStatus status={schedule.status} />
          <AgentLink deployment={schedule} />
          {schedule.next_at && (
            <span>
              Next run <Time at={schedule.next_at} />
            </span>
          )}
        </ResourceLead>
      }
      actions={
        <>
          <CopyCurl {...requests.read(schedule)} />
          <RunNow schedule={schedule} />
          {isEnabled ? (
            <Button onClick={() => actions.confirm({ kind: 'disable', deployment: schedule })}>
              Disable
            </Button>
          ) : (
            <Button look="primary" busy={actions.isEnabling} onClick={() => actions.enable(schedule)}>
              Enable
            </Button>
          )}
          <Button onClick={() => actions.confirm({ kind: 'delete', deployment: schedule })}>Delete</Button>
        </>
      }
    >
      {schedule.paused_reason && (
        <p role="alert" className="mb-5 rounded-xl border border-warn bg-warn-soft p-4">
          The service has disabled this schedule, because several runs in a row could not start. The list of
          runs shows the reason. Correct the cause, and then enable the schedule.
        </p>
      )}
      <Tabs
        label="Schedule sections"
        value={tab}
        tabs={TABS}
        onChange={(chosen) => void navigate({ search: chosen === 'runs' ? {} : { tab: chosen } })}
      >
        <div className="pt-4">
          {tab === 'runs' && <RunsTab schedule={schedule} />}
          {tab === 'settings' && <SettingsTab schedule={schedule} />}
          {tab === 'backfills' && <BackfillsTab schedule={schedule} />}
        </div>
      </Tabs>
      {actions.dialog}
    </Page>
  );
}
