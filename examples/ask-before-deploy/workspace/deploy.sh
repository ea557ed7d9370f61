# Usage: bash deploy.sh PLACE SERVICE
mkdir -p "deployed/$1"
git show HEAD:"$2" > "deployed/$1/$2" && echo "$2 runs in $1"
