import { Page } from '../../ui/page.tsx';

export function EnvironmentsPage() {
  return <Page title="Environments">{null}</Page>;
}
