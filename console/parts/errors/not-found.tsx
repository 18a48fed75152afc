import { Compass } from 'lucide-react';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Page } from '../../ui/page.tsx';
import { ButtonLink } from '../navigation/links.tsx';

/** Page for resources that do not exist or are not shared with the user. It does not reveal which of the two applies. */
export function NotFound() {
  const back = <ButtonLink to="/">Go home</ButtonLink>;
  return (
    <Page title="Not found">
      <EmptyState icon={<Compass />} action={back}>
        This page does not exist, or you do not have access to it.
      </EmptyState>
    </Page>
  );
}
