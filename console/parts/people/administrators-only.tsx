import { ShieldX } from 'lucide-react';
import type { ReactNode } from 'react';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import { ButtonLink } from '../links.tsx';
import { useViewer } from './viewer.ts';

/** What only administrators may see. The service refuses it to others in any case: this says so at once. */
export function AdministratorsOnly({ title, children }: { title: string; children: ReactNode }) {
  const { isAdministrator } = useViewer();
  if (isAdministrator) return children;
  const back = <ButtonLink to="/">Go home</ButtonLink>;
  return (
    <Page title={title}>
      <Empty icon={<ShieldX />} action={back}>
        Only administrators may see this.
      </Empty>
    </Page>
  );
}
