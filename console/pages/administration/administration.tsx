import { getRouteApi } from '@tanstack/react-router';
import { AdministratorsOnly } from '../../parts/users/administrators-only.tsx';
import { useViewer } from '../../parts/users/viewer.ts';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { AuditTab } from './audit.tsx';
import { ConfigurationTab } from './configuration.tsx';
import { SandboxesTab } from './sandboxes.tsx';
import type { AdministrationTab } from './search.ts';
import { UsersTab } from './users.tsx';

const route = getRouteApi('/administration');

const TABS: readonly { value: AdministrationTab; text: string; teams?: true }[] = [
  { value: 'sandboxes', text: 'Sandboxes' },
  { value: 'users', text: 'Users', teams: true },
  { value: 'audit', text: 'Audit log' },
  { value: 'configuration', text: 'Configuration' },
];

export function AdministrationPage() {
  const { tab: requested } = route.useSearch();
  const navigate = route.useNavigate();
  const { isTeam } = useViewer();
  const tabs = TABS.filter(({ teams }) => isTeam || !teams);
  const tab = tabs.find(({ value }) => value === requested)?.value ?? 'sandboxes';
  return (
    <AdministratorsOnly title="Administration">
      <Page title="Administration" lead="Sandboxes, users, audit log and configuration of this service." wide>
        <Tabs
          label="Administration sections"
          value={tab}
          tabs={tabs}
          onChange={(chosen) => void navigate({ search: { tab: chosen } })}
        >
          <div className="pt-4">
            {tab === 'sandboxes' && <SandboxesTab />}
            {tab === 'users' && <UsersTab />}
            {tab === 'audit' && <AuditTab />}
            {tab === 'configuration' && <ConfigurationTab />}
          </div>
        </Tabs>
      </Page>
    </AdministratorsOnly>
  );
}
