import { Page } from '../../ui/page.tsx';

export function TriggersPage() {
  return <Page title="Triggers">{null}</Page>;
}
