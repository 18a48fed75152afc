import { Compass } from 'lucide-react';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import { ButtonLink } from '../links.tsx';

/** What is not there, and what one may not see: nobody is told which. */
export function NotFound() {
  const back = <ButtonLink to="/">Go home</ButtonLink>;
  return (
    <Page title="Not found">
      <Empty icon={<Compass />} action={back}>
        Nothing is here, or it is not shared with you.
      </Empty>
    </Page>
  );
}
