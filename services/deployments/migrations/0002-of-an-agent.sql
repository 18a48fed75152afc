-- Who manages an agent sees what others have made for it.
create index deployments_by_agent on deployments (agent_id, deployment_id desc);
