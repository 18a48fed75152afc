import { ShieldX } from 'lucide-react';
import type { ReactNode } from 'react';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Page } from '../../ui/page.tsx';
import { ButtonLink } from '../navigation/links.tsx';
import { useViewer } from './viewer.ts';

/** Renders `children` for administrators only. The service enforces the permission; this avoids a failing request. */
export function AdministratorsOnly({ title, children }: { title: string; children: ReactNode }) {
  const { isAdministrator } = useViewer();
  if (isAdministrator) return children;
  const back = <ButtonLink to="/">Go home</ButtonLink>;
  return (
    <Page title={title}>
      <EmptyState icon={<ShieldX />} action={back}>
        Only administrators can access this page.
      </EmptyState>
    </Page>
  );
}
