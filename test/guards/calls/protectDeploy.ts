import { lines } from '../lines.js';

export const stop = [
  ['mcp__vercel__deploy_to_vercel', { project: 'shop' }],
  ['mcp__supabase__apply_migration', { name: 'x', query: 'select 1' }],
  ['mcp__github__merge_pull_request', { pull_number: 1 }],
  ...lines(String.raw`
    npm publish
    npm publish --access public
    npm --prefix packages/x publish
    npm run build && npm publish
    pnpm publish
    pnpm -r publish
    yarn npm publish
    npx semantic-release
    cargo publish
    cargo +nightly publish
    twine upload dist/*
    python -m twine upload dist/*
    python3 -m twine upload dist/*
    uv publish
    poetry publish --build
    gem push x.gem
    mvn -B deploy
    ./gradlew publish
    docker push shop:1
    docker image push shop:1
    docker buildx build --push -t shop .
    docker --context prod push shop:1
    podman push shop
    helm upgrade shop ./chart
    helm install shop ./chart
    helm -n shop uninstall shop
    gh release create v1
    gh pr merge 1
    gh repo delete ada/shop
    gh workflow run deploy.yml
    gh api -X DELETE repos/ada/shop
    git push --tags
    git push heroku main
    terraform apply
    terraform apply -auto-approve
    terraform -chdir=infra destroy
    cd infra && terraform apply
    tofu apply
    pulumi up --yes
    cdk deploy
    npx cdk deploy
    serverless deploy
    kubectl apply -f x.yaml
    kubectl delete pod web
    kubectl -n shop delete pod web
    kubectl --context prod scale deploy web --replicas 0
    kubectl exec web -- sh
    kubectl rollout undo deploy/web
    ansible-playbook site.yml
    vercel --prod
    vercel deploy --prod
    npx vercel --prod
    netlify deploy --prod
    firebase deploy
    wrangler deploy
    fly deploy
    heroku pg:reset
    gcloud run deploy shop
    gcloud compute instances delete web
    gcloud --project shop app deploy
    az group delete -n shop
    az vm delete -n web
    aws s3 rm s3://shop/x
    aws s3 rb s3://shop
    aws ec2 terminate-instances --instance-ids i-1
    aws --region eu-west-1 rds delete-db-instance --db-instance-identifier shop
    aws cloudformation deploy --stack-name shop
    prisma migrate deploy
    npx prisma db push
    sudo docker push shop
    bash -c 'npm publish'
    eval "terraform apply"
    n''pm publish
    x=publish; npm $x
    echo web | xargs kubectl delete pod
    echo "npm publish" | sh
    if true; then npm publish; fi
    find . -name x.yaml -exec kubectl apply -f {} \;
  `),
] as const;

export const pass = [
  ['write_file', { file_path: 'docs/release.md', content: 'npm publish' }],
  ['read_file', { absolute_path: 'infra/main.tf' }],
  ['search_file_content', { pattern: 'kubectl delete', path: 'docs' }],
  ['mcp__vercel__list_projects', {}],
  ['mcp__github__get_pull_request', { pull_number: 1 }],
  ...lines(String.raw`
    npm pack
    npm test
    npm ci
    npm run build
    npm view hookstack
    npm install left-pad
    pnpm test
    yarn build
    cargo build --release
    cargo test
    python3 -m build
    uv build
    poetry build
    gem build x.gemspec
    mvn package
    ./gradlew build
    docker build -t shop .
    docker buildx build -t shop .
    docker ps
    docker run --rm shop
    docker compose up -d
    docker pull node
    helm template ./chart
    helm lint ./chart
    helm list
    gh release list
    gh release view v1
    gh pr create --title x
    gh pr view 1
    gh run list
    gh api repos/ada/shop
    git push origin main
    git tag v1
    terraform init
    terraform plan
    terraform fmt
    terraform validate
    terraform state list
    terraform output
    tofu plan
    pulumi preview
    cdk synth
    cdk diff
    kubectl get pods
    kubectl describe pod web
    kubectl logs web
    kubectl diff -f x.yaml
    kubectl config current-context
    ansible-lint
    vercel ls
    vercel dev
    netlify dev
    firebase emulators:start
    wrangler dev
    fly status
    gcloud config list
    gcloud compute instances list
    az vm list
    aws s3 ls
    aws sts get-caller-identity
    aws ec2 describe-instances
    prisma generate
    prisma migrate dev
    git commit -m "npm publish"
    echo "terraform apply"
    grep -rn "docker push" .github
    cat deploy.sh
    ls deploy
  `),
] as const;
