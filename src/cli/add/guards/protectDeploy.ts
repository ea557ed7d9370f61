import { HookEventName } from '../../../protocol/types.js';
import { callTests, commands, lines, type Guard } from '../guard.js';

const name = 'protect-deploy';

const PUBLISHING = commands(`
  npm publish|unpublish|deprecate|version *
  npm dist-tag add|rm *
  pnpm|yarn|bun|lerna|changeset publish *
  pnpm -r publish *
  yarn npm publish *
  semantic-release|release-it|np *
  npx semantic-release|release-it|np *
  npx changeset publish *
  twine upload *
  python* -m twine upload *
  uv|poetry|hatch|flit|pdm|cargo publish *
  cargo yank|release *
  cargo +* publish *
  gem push|yank *
  mvn * deploy|release:perform *
  gradle|gradlew * publish* *
  dotnet nuget push *
  nuget|docker push *
  dart|flutter pub publish *
  jsr|deno|vsce publish *
  goreleaser release *
  docker image|manifest push *
  docker compose * push *
  docker buildx build * --push *
  docker build * --push *
  podman|buildah|oras|helm push *
  skopeo copy|delete *
  crane push|delete *
  gh release create|delete|edit|upload *
  gh workflow run *
  gh pr merge *
  gh repo delete|edit|archive *
  gh secret set|delete *
  gh api * -X|--method *
  glab release create *
  glab mr merge *
  git push * --tags|--follow-tags *
  git push * heroku *
`);

const DEPLOYING = commands(`
  terraform apply|destroy|import|taint|force-unlock *
  terraform state rm|mv|push *
  terraform workspace delete *
  tofu apply|destroy *
  tofu state rm *
  terragrunt * apply|destroy *
  pulumi up|destroy|cancel *
  pulumi stack rm *
  cdk deploy|destroy *
  npx cdk deploy|destroy *
  sam deploy|delete *
  serverless|sls deploy|remove *
  copilot * deploy *
  eb deploy|terminate *
  kubectl apply|create|delete|replace|patch|edit|scale|set|drain|cordon|taint|exec|run *
  kubectl rollout restart|undo *
  oc apply|delete *
  helm install|upgrade|uninstall|delete|rollback *
  helmfile apply|sync|destroy *
  kustomize * apply *
  skaffold run|deploy|delete *
  argocd app sync|delete *
  flux delete *
  nomad job run|stop *
  ansible-playbook *
  vercel * --prod *
  vercel deploy|promote|rollback|remove|rm *
  vercel env rm *
  npx vercel * --prod *
  netlify deploy|sites:delete *
  npx netlify|firebase deploy *
  firebase|fly|flyctl deploy *
  wrangler deploy|publish|delete *
  npx wrangler deploy|delete *
  fly|flyctl apps destroy *
  heroku apps:destroy|container:release|pg:reset *
  railway up|down *
  render deploys create *
  dokku * destroy *
  kamal deploy *
  cap|gcloud * deploy *
  gcloud * delete|destroy *
  gsutil * rm *
  gsutil rb *
  az * delete|purge *
  az deployment * create *
  az webapp deploy|up *
  aws * delete-*|terminate-*|destroy-*|deregister-*|purge-*|update-stack|create-stack *
  aws s3 rm|rb *
  aws s3 sync * --delete *
  aws cloudformation deploy *
  aws lambda update-function-code *
  aws ecs update-service *
  doctl * delete|rm *
  linode-cli|hcloud * delete *
  supabase db reset|push *
  prisma migrate deploy|reset *
  prisma db push *
  npx prisma migrate deploy|reset *
  npx prisma db push *
`);

/** Tools of MCP servers by what they are called, as there is no list of all. */
const TOOLS = lines(`
  mcp__*deploy*
  mcp__*publish*
  mcp__*create_release*
  mcp__*merge_pull_request*
  mcp__*delete_repo*
  mcp__*apply_migration*
`);

export const protectDeploy: Guard = {
  name,
  covers:
    'Asks before anything is published, deployed, applied to a cluster or deleted in a cloud: npm publish, docker push, terraform apply, kubectl delete, helm upgrade, gh release, aws, gcloud, az, vercel --prod, …',
  misses:
    'Not covered: scripts of the project (npm run deploy, make release), what a pipeline does after a push, and calls of an API: keep the credentials away from the agent.',
  groups: () => [
    {
      event: HookEventName.BeforeTool,
      group: {
        when: [...PUBLISHING, ...DEPLOYING, ...TOOLS],
        hooks: [
          {
            type: 'rule',
            name,
            description: 'Asks before others are affected.',
            decision: 'ask',
            reason:
              'Others notice this: it publishes, deploys or deletes. Show what would happen first (npm pack, terraform plan, kubectl diff, --dry-run).',
          },
        ],
      },
    },
  ],
  tests: callTests(name, {
    ask: [
      'npm publish',
      'cd infra && terraform apply -auto-approve',
      'kubectl -n shop delete pod web',
      'docker buildx build --push -t shop .',
      'aws --region eu-west-1 ec2 terminate-instances --instance-ids i-1',
    ],
    pass: ['npm pack', 'terraform plan', 'kubectl get pods', 'docker build -t shop .', 'aws s3 ls'],
  }),
};
