# Replaces the line of the crontab that ends with the mark $1 by $2, if there is one.
old=$(crontab -l 2>&1) || case $old in
*"no crontab for"*) old= ;;
*)
	printf '%s\n' "$old" >&2
	exit 1
	;;
esac
{
	[ -z "$old" ] || printf '%s\n' "$old" | awk -v mark="# $1" 'substr($0, length($0) - length(mark) + 1) != mark'
	[ -z "$2" ] || printf '%s\n' "$2"
} | crontab -
